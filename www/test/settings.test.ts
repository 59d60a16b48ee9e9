import { afterEach, expect, it, vi } from "vitest";
import { load, save } from "../src/settings/settings";

afterEach(() => vi.unstubAllGlobals());

it("settings last until the page closes if storage is forbidden", () => {
  const forbidden = () => {
    throw new DOMException("forbidden", "SecurityError");
  };
  vi.stubGlobal("localStorage", { getItem: forbidden, setItem: forbidden });
  vi.stubGlobal("document", { documentElement: { dataset: {} } });
  save({ ...load(), sounds: true, board: "blue" });
  expect(load()).toMatchObject({ sounds: true, board: "blue" });
});
