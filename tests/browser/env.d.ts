// Globals of the pages of these tests.
/// <reference types="shelfish/elements" />
declare var shelfish: typeof import("shelfish");
declare var database: import("shelfish").Database;
declare var remote: typeof import("shelfish/worker");
declare var work: () => Worker;
declare var told: (promise: Promise<unknown>) => Promise<any>;
/** Open connections to IndexedDB, and connections that are being opened. */
declare var connections: Set<IDBOpenDBRequest>;
