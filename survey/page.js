/** The page: a form, and one answer that says what became of it. */

import { PublicKey } from "hearith";
import { answer, DEPARTMENTS, Mistake } from "./form.js";

const form = document.querySelector("form");
const status = document.querySelector("output");
const button = form.querySelector("button");
for (const dept of DEPARTMENTS) form.elements.dept.add(new Option(dept, dept));

const insecure = document.documentElement.dataset.insecure === "yes";
const key = PublicKey.read(await (await fetch("key.json")).text(), { insecure });

function say(text, kind) {
  status.textContent = text;
  status.className = kind;
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { dept, salary } = Object.fromEntries(new FormData(form));
  button.disabled = true;
  try {
    const sent = answer(await key, { code: location.hash.slice(1), dept, salary });
    document.querySelector("#sent").textContent = sent.salary;
    document.querySelector("details").hidden = false;
    const response = await fetch("answers", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(sent),
    });
    if (response.ok) {
      say("Thank you. Your answer was received.", "good");
      form.elements.salary.value = "";
      return;
    }
    say(await response.text(), "bad");
  } catch (error) {
    say(error instanceof Mistake ? error.message : "The answer could not be sent. Try again.", "bad");
  }
  button.disabled = false;
});
