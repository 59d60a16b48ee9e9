export * from "../analysis/browser.js";
