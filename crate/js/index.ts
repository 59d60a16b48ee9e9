// The main entry: `shelfish`.

export * from "./database/database.js";
