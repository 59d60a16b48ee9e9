export * from "./moves.js";
