export * from "../engine/browser.js";
