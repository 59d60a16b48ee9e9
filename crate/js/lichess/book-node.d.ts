export * from "../book/node.js";
