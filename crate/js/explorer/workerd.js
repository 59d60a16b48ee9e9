// For Cloudflare's Workers: the size of a module matters less here, so that the modules of the two other entries serve.
export { Database, openDatabase, ShelfishError } from "./workerd.js";
export { Book, openBook } from "./book-workerd.js";
