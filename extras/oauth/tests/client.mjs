// An app in Node: oauth4webapi, certified for OpenID Connect, with a site that runs. A line "open <address>" asks the
// test to let the member decide there; the test answers with the address to which the site leads back.
import { createInterface } from "node:readline";
import * as oauth from "oauth4webapi";

const [site] = process.argv.slice(2);
const plain = { [oauth.allowInsecureRequests]: true };
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function decided(address) {
  console.log(`open ${address}`);
  return new URL((await lines.next()).value);
}

async function name(tokens) {
  const answer = await oauth.protectedResourceRequest(tokens.access_token, "GET", new URL("/api/me", site), undefined, undefined, plain);
  return (await answer.json()).name;
}

const issuer = new URL(site);
const found = await oauth.discoveryRequest(issuer, { ...plain, algorithm: "oauth2" });
const server = await oauth.processDiscoveryResponse(issuer, found);

const back = "http://127.0.0.1/back";
const asked = await oauth.dynamicClientRegistrationRequest(server, { client_name: "Node", redirect_uris: [back] }, plain);
const client = await oauth.processDynamicClientRegistrationResponse(asked);
const auth = oauth.None();

const verifier = oauth.generateRandomCodeVerifier();
const state = oauth.generateRandomState();
const here = "http://127.0.0.1:4711/back";
const page = new URL(server.authorization_endpoint);
page.search = new URLSearchParams({
  client_id: client.client_id, response_type: "code", redirect_uri: here, scope: "read vote", state,
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256",
});
const params = oauth.validateAuthResponse(server, client, await decided(page), state);
const given = await oauth.authorizationCodeGrantRequest(server, client, auth, params, here, verifier, plain);
const tokens = await oauth.processAuthorizationCodeResponse(server, client, given);
console.log(`code ${await name(tokens)} ${tokens.scope}`);

const renewed = await oauth.refreshTokenGrantRequest(server, client, auth, tokens.refresh_token, plain);
const next = await oauth.processRefreshTokenResponse(server, client, renewed);
console.log(`refresh ${await name(next)}`);
await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, auth, next.refresh_token, plain));
const after = await fetch(new URL("/api/me", site), { headers: { Authorization: `Bearer ${next.access_token}` } });
console.log(`revoked ${after.status}`);

process.exit(0);
