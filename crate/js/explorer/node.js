// For Node, Deno and Bun: the size of a module matters less here, so that the modules of the two other entries serve.
export { Database, directory, openDatabase, ShelfishError } from "./node.js";
export { Book, openBook } from "./book-node.js";
