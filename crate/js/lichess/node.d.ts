export * from "../database/node.js";
