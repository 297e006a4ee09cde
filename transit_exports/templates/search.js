"use strict";
const byId = name => document.getElementById(name);
const input = byId("words");

function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const cards = [...document.querySelectorAll(".card")];
  for (const card of cards) card.hidden = !words.every(word => card.dataset.text.includes(word));
  for (const group of document.querySelectorAll(".group")) group.hidden = !group.querySelector(".card:not([hidden])");
  for (const start of document.querySelectorAll(".start")) start.hidden = words.length > 0;
  const found = cards.filter(card => !card.hidden).length;
  byId("found").textContent = found ? `${found} of ${cards.length} datasets` : "No dataset matches.";
}

function showAll() {
  input.value = "";
  show();
}

input.addEventListener("input", show);
for (const link of document.querySelectorAll("nav a, .start a")) link.addEventListener("click", showAll);
byId("search").hidden = false;
show();
