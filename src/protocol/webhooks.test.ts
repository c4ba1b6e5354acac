import { createPublicKey, verify } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { IncomingWebhook } from './webhooks.ts';
import { signWebhook, verifyWebhook } from './webhooks.ts';

interface Keys {
  readonly pair: CryptoKeyPair;
  readonly jwk: JsonWebKey;
}

let mine: Keys;
let other: Keys;
async function generate(): Promise<Keys> {
  const pair = (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as CryptoKeyPair;
  return { pair, jwk: await crypto.subtle.exportKey('jwk', pair.publicKey) };
}
beforeAll(async () => {
  [mine, other] = [await generate(), await generate()];
});

const NOW = new Date('2026-03-12T08:30:00Z');
const timestamp = NOW.getTime() / 1000;
const now = () => NOW;
const body = JSON.stringify({ statusUpdate: { taskId: 't', text: 'käse 😀' } });
const signed = async (keys: readonly Keys[] = [mine], more: { id?: string; timestamp?: number; body?: string } = {}) => {
  const message = { id: 'msg_1', timestamp, body, ...more };
  const signature = await signWebhook(
    message,
    keys.map(({ pair }) => pair.privateKey),
  );
  return {
    headers: { 'webhook-id': message.id, 'webhook-timestamp': `${message.timestamp}`, 'webhook-signature': signature },
    body: message.body,
  };
};
const fault = (incoming: IncomingWebhook, keys: Parameters<typeof verifyWebhook>[1]['keys'] = [mine.jwk]) =>
  verifyWebhook(incoming, { keys, now }).then(
    () => 'accepted',
    (thrown: { fault?: string }) => thrown.fault,
  );

describe('a webhook', () => {
  it('is verified as a Request and as headers with a body', async () => {
    const { headers } = await signed();
    const bytes = new TextEncoder().encode(body);
    const forms: readonly IncomingWebhook[] = [
      { headers, body },
      { headers: new Headers(headers), body: bytes },
      {
        headers: { 'Webhook-Id': 'msg_1', 'WEBHOOK-TIMESTAMP': [`${timestamp}`], 'webhook-signature': headers['webhook-signature'] },
        body: bytes,
      },
      new Request('https://e.org', { method: 'POST', headers, body }),
    ];
    for (const form of forms) {
      expect(await verifyWebhook(form, { keys: { keys: [mine.jwk] }, now })).toEqual({
        id: 'msg_1',
        sentAt: NOW,
        body,
        payload: JSON.parse(body),
      });
    }
  });

  it('is signed as in Standard Webhooks: v1a, Ed25519, over id, time and body', async () => {
    const { headers } = await signed();
    const [scheme, signature = ''] = headers['webhook-signature'].split(',');
    expect(scheme).toBe('v1a');
    const key = createPublicKey({ key: { ...mine.jwk }, format: 'jwk' });
    const over = Buffer.from(`msg_1.${timestamp}.${body}`);
    expect(verify(null, over, key, Buffer.from(signature, 'base64'))).toBe(true);
  });

  it('is accepted if any key of the receiver made one of the signatures', async () => {
    const rsa: JsonWebKey = { kty: 'RSA', n: 'AQAB', e: 'AQAB' };
    const raw = `whpk_${Buffer.from(mine.jwk.x ?? '', 'base64url').toString('base64')}`;
    expect(await fault(await signed(), { keys: [rsa, other.jwk, mine.jwk] })).toBe('accepted');
    expect(await fault(await signed([other, mine]))).toBe('accepted');
    expect(await fault(await signed(), [raw])).toBe('accepted');
    const mixed = await signed();
    const both = { ...mixed.headers, 'webhook-signature': `v1,AAAA ${mixed.headers['webhook-signature']}` };
    expect(await fault({ ...mixed, headers: both })).toBe('accepted');
  });

  it('is rejected when any signed part was changed', async () => {
    const good = await signed();
    expect(await fault({ ...good, body: `${body} ` })).toBe('forged');
    expect(await fault({ ...good, headers: { ...good.headers, 'webhook-id': 'msg_2' } })).toBe('forged');
    expect(await fault({ ...good, headers: { ...good.headers, 'webhook-timestamp': `${timestamp + 1}` } })).toBe('forged');
    expect(await fault(good, [other.jwk])).toBe('forged');
    expect(await fault(good, [])).toBe('forged');
  });

  it('is rejected when it is too old or from the future', async () => {
    expect(await fault(await signed([mine], { timestamp: timestamp - 299 }))).toBe('accepted');
    expect(await fault(await signed([mine], { timestamp: timestamp - 301 }))).toBe('stale');
    expect(await fault(await signed([mine], { timestamp: timestamp + 301 }))).toBe('stale');
  });

  it('is rejected without its headers or with malformed ones', async () => {
    const good = await signed();
    for (const name of Object.keys(good.headers)) {
      expect(await fault({ ...good, headers: { ...good.headers, [name]: undefined } })).toBe('unsigned');
      expect(await fault({ ...good, headers: { ...good.headers, [name]: '' } })).toBe('unsigned');
    }
    for (const signature of ['v1,AAAA', 'v1a', 'v1a,%%%', 'x'.repeat(10_000)]) {
      expect(await fault({ ...good, headers: { ...good.headers, 'webhook-signature': signature } })).toBe('unsigned');
    }
    expect(await fault({ ...good, headers: { ...good.headers, 'webhook-timestamp': 'now' } })).toBe('unsigned');
    expect(await fault(await signed([mine], { body: 'no json' }))).toBe('malformed');
  });
});
