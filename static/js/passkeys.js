// Passkeys: asks the browser to create or use one, and sends the form with what it answers.
//
// A form with data-passkey names its purpose, and data-options the address of the ceremony's options. Its button is
// there only with scripts, by the style sheet; browsers without passkeys lose it here.

"use strict";

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const isNew = form.dataset.passkey === "add";
  const button = form.querySelector("button");
  button.parentElement.hidden = !window.PublicKeyCredential?.parseRequestOptionsFromJSON;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    try {
      const answer = await fetch(form.dataset.options, { method: "POST", body: new URLSearchParams(new FormData(form)) });
      const options = answer.ok ? await answer.json() : null;
      const credential = options && (isNew
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }));
      if (credential) form.elements.credential.value = JSON.stringify(credential.toJSON());
    } catch (error) {
      if (error.name === "NotAllowedError") return; // the reader has cancelled
    } finally {
      button.disabled = false;
    }
    form.submit(); // without a credential, the server says what is wrong
  });
}
