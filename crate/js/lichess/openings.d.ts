export * from "../openings/openings.js";
