// Sliders beside the lab's number inputs. Without this script, numbers are typed. results.js loads the preview.
(() => {
  "use strict";

  const STEPS = 200; // of non-linear sliders: a key press adds about one to the second digit

  // The power by which a slider's position from 0 to 1 maps to values; other scales are logarithmic.
  const POWERS = { linear: 1, cubic: 3 };

  const addSlider = (number) => {
    const low = Number(number.min), high = Number(number.max), step = Number(number.step);
    const power = POWERS[number.dataset.scale], steps = power === 1 ? Math.round((high - low) / step) : STEPS;
    const valueAt = (part) => (power ? low + (high - low) * part ** power : low * (high / low) ** part);
    const partOf = (value) =>
      power ? ((value - low) / (high - low)) ** (1 / power) : Math.log(value / low) / Math.log(high / low);
    const slider = document.createElement("input");
    const tell = () => {
      slider.ariaValueText = number.value && number.valueAsNumber.toLocaleString(document.documentElement.lang);
    };
    Object.assign(slider, { type: "range", min: 0, max: steps });
    slider.setAttribute("aria-labelledby", number.labels[0].id ||= `${number.id}_label`);
    const follow = () => {
      const value = Math.min(high, Math.max(low, number.valueAsNumber));
      if (Number.isFinite(value)) slider.value = Math.round(steps * partOf(value));
      tell();
    };
    slider.addEventListener("input", () => {
      const exact = valueAt(slider.value / steps);
      const coarse = power === 1 ? exact : Number(exact.toPrecision(2));
      number.value = Number((Math.round(coarse / step) * step).toFixed(2));
      tell();
    });
    number.addEventListener("input", follow);
    number.after(slider);
    follow();
  };

  for (const number of document.querySelectorAll("[data-scale]")) addSlider(number);
})();
