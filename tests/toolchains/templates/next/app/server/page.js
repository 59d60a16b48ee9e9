import { Suspense } from "react";
import { answer } from "../../answer.js";

async function Answer({ searchParams }) {
  return <p id="answer">{await answer((await searchParams).db)}</p>;
}

export default function Page({ searchParams }) {
  return (
    <Suspense>
      <Answer searchParams={searchParams} />
    </Suspense>
  );
}
