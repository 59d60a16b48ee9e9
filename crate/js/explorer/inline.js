// For hosts and bundlers that cannot load a second file: the size of a module matters less here, so that the modules of the two other entries serve.
export { Database, openDatabase, ShelfishError } from "./inline.js";
export { Book, openBook } from "./book-inline.js";
