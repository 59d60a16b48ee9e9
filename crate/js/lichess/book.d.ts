export * from "../book/browser.js";
