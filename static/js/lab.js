// Sliders beside the lab's numbers. Without it the numbers are typed. The preview is the affair of renew.js.
(() => {
  "use strict";

  const form = document.getElementById("knobs");
  if (!form) return;
  const STEPS = 200; // of those that are not linear: one key press is one more of two digits, or nearly

  // What part of a slider's way a value stands at, and back.
  const SCALES = {
    linear: [(part, low, high) => low + (high - low) * part, (value, low, high) => (value - low) / (high - low)],
    cubic: [(part, low, high) => low + (high - low) * part ** 3, (value, low, high) => Math.cbrt((value - low) / (high - low))],
    log: [(part, low, high) => low * (high / low) ** part, (value, low, high) => Math.log(value / low) / Math.log(high / low)],
  };

  const addSlider = (number) => {
    const [valueAt, partOf] = SCALES[number.dataset.scale];
    const low = Number(number.min), high = Number(number.max), step = Number(number.step);
    const steps = number.dataset.scale === "linear" ? Math.round((high - low) / step) : STEPS;
    const slider = document.createElement("input");
    Object.assign(slider, { type: "range", min: 0, max: steps });
    slider.setAttribute("aria-labelledby", number.labels[0].id ||= `${number.id}_label`);
    const follow = () => {
      const value = Math.min(high, Math.max(low, number.valueAsNumber));
      if (Number.isFinite(value)) slider.value = Math.round(steps * partOf(value, low, high));
      slider.setAttribute("aria-valuetext", number.value);
    };
    slider.addEventListener("input", () => {
      const exact = valueAt(slider.value / steps, low, high);
      const coarse = number.dataset.scale === "linear" ? exact : Number(exact.toPrecision(2));
      number.value = Number((Math.round(coarse / step) * step).toFixed(2));
      slider.setAttribute("aria-valuetext", number.value);
    });
    number.addEventListener("input", follow);
    number.after(slider);
    follow();
  };

  for (const number of form.querySelectorAll("input[data-scale]")) addSlider(number);
})();
