export * from "../explorer/explorer.js";
