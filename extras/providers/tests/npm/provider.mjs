// A certified OpenID Connect provider for the tests. Arguments: the folder of its package, the id and the secret of
// the site, and the addresses to which it may lead back after a login and a logout.
// Commands on the standard input, one JSON object a line; each is answered by a line on the standard output.
import { createServer } from 'node:http';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';

const { Provider } = await import(`${process.argv[2]}/lib/index.js`);
const [client, secret, back, home] = process.argv.slice(3);

const people = {
  alice: { email: 'alice@example.org', email_verified: true, preferred_username: 'alice', groups: ['news', 'mods'] },
};
const keyNamed = (kid) => ({
  ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  kid, use: 'sig', alg: 'RS256',
});

let handle;
const server = createServer((request, response) => handle(request, response));
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const issuer = `http://127.0.0.1:${server.address().port}`;

function start(kid) {
  const provider = new Provider(issuer, {
    clients: [{
      client_id: client, client_secret: secret, redirect_uris: [back], post_logout_redirect_uris: [home],
      token_endpoint_auth_method: 'client_secret_post',
    }],
    jwks: { keys: [keyNamed(kid)] },
    cookies: { keys: [randomUUID()] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['preferred_username', 'groups'] },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
    pkce: { required: () => true },
    ttl: { Session: 600, Grant: 600, Interaction: 600, AccessToken: 600, IdToken: 600 },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
    // There is no login form: the test says who is at the browser by a cookie, and everything is granted.
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    async loadExistingGrant(context) {
      const grant = new context.oidc.provider.Grant({ clientId: client, accountId: context.oidc.session.accountId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  provider.on('server_error', (_context, error) => console.error(error));
  const callback = provider.callback();
  handle = async (request, response) => {
    if (!request.url.startsWith('/interaction/')) return callback(request, response);
    const accountId = /person=(\w+)/.exec(request.headers.cookie ?? '')?.[1];
    const result = accountId ? { login: { accountId } } : { error: 'access_denied' };
    await provider.interactionFinished(request, response, result);
  };
}

start('first');
console.log(JSON.stringify({ issuer }));
for await (const line of createInterface({ input: process.stdin })) {
  const { rotate, person, claims } = JSON.parse(line);
  if (rotate) start(rotate);
  if (person) people[person] = claims;
  console.log('{}');
}
process.exit();
