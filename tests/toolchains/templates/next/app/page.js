"use client";
import { useEffect, useState } from "react";
import { answer } from "../answer.js";

export default function Page() {
  const [text, setText] = useState("");
  useEffect(
    () =>
      void answer(new URLSearchParams(location.search).get("db")).then(setText),
    [],
  );
  return <p id="answer">{text}</p>;
}
