import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { s3OptionsIn } from '../../src/server/adapters/s3.ts';
import { programOf, startMosquitto } from '../support/brokers.ts';
import { eventually } from '../support/eventually.ts';
import { launchServe } from '../support/parley.ts';
import { S3_KEYS, s3Server } from '../support/s3.ts';
import { scratchFolder } from '../support/scratch.ts';
import { onStop, start, stopAll } from './nodes.ts';

afterEach(stopAll);

const folder = scratchFolder();
const isThere = programOf('mosquitto') !== undefined;
const KEYS = S3_KEYS;
const server = s3Server(folder, ['artifacts']);

/** Sends a large file through a gateway, and checks that it is stored in the given place. */
async function roundTrip(place: string, env: Readonly<Record<string, string>> = {}): Promise<string | undefined> {
  const broker = await startMosquitto();
  onStop(() => broker.stop());
  const more = { env, args: ['--memory', '--artifacts', place] };
  await start(broker.url, ['echo'], more);
  const gateway = await start(broker.url, [], { ...more, command: ['mesh', 'gateway'] });
  const echo = `${gateway.url}/agents/echo`;
  await eventually(async () => expect((await fetch(`${echo}/.well-known/agent-card.json`)).status).toBe(200));
  const raw = Buffer.alloc(150_000, 7).toString('base64');
  const message = { messageId: 'f1', role: 'ROLE_USER', parts: [{ raw, filename: 'large.bin', mediaType: 'application/octet-stream' }] };
  const body = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ message }) };
  const { task } = (await (await fetch(`${echo}/message:send`, body)).json()) as { task: { artifacts: { parts: { raw?: string }[] }[] } };
  expect(task.artifacts[0]?.parts[0]?.raw === raw).toBe(true);
  return raw;
}

describe.skipIf(!isThere)(`large files on the mesh${isThere ? '' : ' [needs mosquitto]'}`, () => {
  it('are stored in a folder', async () => {
    await roundTrip(join(folder, 'shared'));
    expect(readdirSync(join(folder, 'shared'), { recursive: true }).filter((name) => String(name).includes('large.bin'))).not.toEqual([]);
  });

  it('are stored in a bucket, under its prefix', async () => {
    await roundTrip(`s3://artifacts/mesh/one?endpoint=${server.endpoint}`, KEYS);
    const kept = readdirSync(join(folder, 'artifacts', 'mesh', 'one'), { recursive: true });
    expect(kept.filter((name) => String(name).includes('large.bin'))).not.toEqual([]);
  });
});

describe('an unusable place for large files', () => {
  const failing = async (
    place: string,
    env: Readonly<Record<string, string>> = {},
    broker = 'memory',
  ): Promise<[number | null, string]> => {
    const nobody = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_ENDPOINT_URL: '', AWS_ENDPOINT_URL_S3: '' };
    const run = launchServe({ args: ['echo', '--memory', '--mesh', broker, '--artifacts', place], env: { ...nobody, ...env } });
    return [(await run.ended).code, run.errors()];
  };
  it.each([
    ['s3://artifacts', {}, 2, 'needs AWS_ACCESS_KEY_ID in the environment'],
    ['s3://artifacts', { AWS_ACCESS_KEY_ID: 'a' }, 2, 'needs AWS_SECRET_ACCESS_KEY in the environment'],
    ['s3://key:secret@artifacts', KEYS, 2, 'keys must not be in the address'],
    ['s3://artifacts?bucket=x', KEYS, 2, 'unknown parameter bucket'],
    ['s3://artifacts?endpoint=ftp://x', KEYS, 2, 'is not an http(s) address'],
    ['s3://', KEYS, 2, 'the bucket is missing'],
    ['gs://artifacts', KEYS, 2, 'name a folder or s3://BUCKET'],
    ['s3://artifacts?endpoint=http://127.0.0.1:1', KEYS, 1, "can't be reached at http://127.0.0.1:1"],
    ['/dev/null/nowhere', {}, 1, "files can't be stored in /dev/null/nowhere"],
  ])('%s %j', async (place, env, code, words) => {
    expect(await failing(place, env)).toEqual([code, expect.stringContaining(words)]);
  });

  it('is reported at the start: a missing or forbidden bucket, or memory of this process', async () => {
    const at = (bucket: string): string => `s3://${bucket}?endpoint=${server.endpoint}`;
    expect(await failing(at('nowhere'), KEYS)).toEqual([1, expect.stringContaining('there is no bucket nowhere')]);
    expect(await failing(at('artifacts'), { ...KEYS, AWS_ACCESS_KEY_ID: 'WRONG' })).toEqual([1, expect.stringContaining('answered 403')]);
    expect(await failing('memory', {}, 'mqtt://127.0.0.1:1')).toEqual([2, expect.stringContaining('cannot read')]);
  });
});

it('a bucket is configured by its address and the environment, as with other S3 tools', () => {
  expect(s3OptionsIn('s3://b', { ...KEYS, AWS_REGION: 'eu-central-1', AWS_SESSION_TOKEN: 't' })).toEqual({
    endpoint: 'https://s3.eu-central-1.amazonaws.com',
    bucket: 'b',
    region: 'eu-central-1',
    accessKeyId: 'S3RVER',
    secretAccessKey: 'S3RVER',
    sessionToken: 't',
  });
  expect(s3OptionsIn('s3://b/a%20b/?region=x&endpoint=http://h:9', { ...KEYS, AWS_ENDPOINT_URL_S3: 'http://other' })).toMatchObject({
    endpoint: 'http://h:9',
    region: 'x',
    prefix: 'a b/',
  });
  expect(s3OptionsIn('s3://b', { ...KEYS, AWS_ENDPOINT_URL: 'http://e:1' }).endpoint).toBe('http://e:1');
});
