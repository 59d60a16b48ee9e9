export * from "../book/open.js";
