// What the pages of these tests have as globals.
declare var shelfish: typeof import("shelfish");
declare var database: import("shelfish").Database;
