// What the pages of these tests have as globals.
/// <reference types="shelfish/game" />
declare var shelfish: typeof import("shelfish");
declare var database: import("shelfish").Database;
declare var remote: typeof import("shelfish/worker");
declare var work: () => Worker;
declare var told: (promise: Promise<unknown>) => Promise<any>;
/** Connections to IndexedDB that are open, or being opened. */
declare var connections: Set<IDBOpenDBRequest>;
