export * from "../database/browser.js";
