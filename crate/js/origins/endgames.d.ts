export * from "../endgames/browser.js";
