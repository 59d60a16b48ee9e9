export * from "../evaluator/evaluator.js";
