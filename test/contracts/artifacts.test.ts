import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ArtifactService, Objects } from '#mesh';
import {
  ArtifactError,
  createArtifactService,
  INLINE_BYTES_MAX,
  isArtifactName,
  keyOf,
  readArtifactUri,
  toBytes,
  toReferences,
  writeArtifactUri,
} from '#mesh';
import { bytesToBase64 } from '#protocol';
import { fileObjects } from '../../src/mesh/adapters/objects-files.ts';
import { memoryObjects } from '../../src/mesh/adapters/objects-memory.ts';
import { s3Objects } from '../../src/mesh/adapters/objects-s3.ts';
import { scratchFolder } from '../support/scratch.ts';

const OWNER = { app: 'shop', user: 'zoë', session: 's 1' };
const bytes = (words: string): Uint8Array => new TextEncoder().encode(words);
const text = (content: Uint8Array | undefined): string | undefined =>
  content === undefined ? undefined : new TextDecoder().decode(content);

function contract(open: () => Promise<Objects>): void {
  let objects: Objects;
  let service: ArtifactService;
  beforeAll(async () => {
    objects = await open();
    service = createArtifactService({ objects });
  });
  test('numbers versions from 0, keeps each unchanged, and loads the latest by default', async () => {
    const first = await service.save(OWNER, {
      name: 'a report.pdf',
      content: bytes('one'),
      mediaType: 'application/pdf',
      metadata: { source: 'test' },
    });
    expect(first).toEqual({
      name: 'a report.pdf',
      version: 0,
      uri: 'artifact://shop/zo%C3%AB/s%201/a%20report.pdf?version=0',
      mediaType: 'application/pdf',
      bytes: 3,
      metadata: { source: 'test' },
    });
    await service.save(OWNER, { name: 'a report.pdf', content: bytes('two') });
    expect(await service.versions(OWNER, 'a report.pdf')).toEqual([0, 1]);
    expect(text((await service.load(OWNER, 'a report.pdf'))?.content)).toBe('two');
    expect(text((await service.load(OWNER, 'a report.pdf', 0))?.content)).toBe('one');
    expect(await service.load(OWNER, 'a report.pdf', 7)).toBeUndefined();
    expect(await service.load(OWNER, 'nothing')).toBeUndefined();
  });
  test('gives concurrent saves different versions', async () => {
    const saved = await Promise.all(
      Array.from({ length: 20 }, (_, at) => service.save(OWNER, { name: 'race', content: bytes(String(at)) })),
    );
    // A bucket without If-None-Match can't detect two writers at the same moment. At least no numbered version may be lost.
    expect(await service.versions(OWNER, 'race')).toEqual([...new Set(saved.map(({ version }) => version))].toSorted((a, b) => a - b));
  });
  test('does not overwrite an object', async () => {
    expect(await objects.put(keyOf('x', 'once'), bytes('first'))).toBe(true);
    expect(await objects.put(keyOf('x', 'once'), bytes('second'))).toBe(false);
    expect(text(await objects.get(keyOf('x', 'once')))).toBe('first');
  });
  test('resolves a URI for its user only, in both forms', async () => {
    const { uri } = await service.save(OWNER, { name: 'mine', content: bytes('mine') });
    expect(text((await service.resolve(OWNER, uri))?.content)).toBe('mine');
    expect(text((await service.resolve({ ...OWNER, session: 'other' }, uri))?.content)).toBe('mine');
    expect(text((await service.resolve(OWNER, 'artifact://s%201/mine'))?.content)).toBe('mine');
    expect(await service.resolve({ ...OWNER, user: 'mallory' }, uri)).toBeUndefined();
    expect(await service.resolve({ ...OWNER, user: 'mallory' }, 'artifact://s%201/mine')).toBeUndefined();
    expect(await service.resolve({ ...OWNER, app: 'other' }, uri)).toBeUndefined();
  });
  test('shares user: files between the sessions of a user, lists both kinds, and deletes every version', async () => {
    const owner = { app: 'list', user: 'u', session: 'one' };
    await service.save(owner, { name: 'user:profile', content: bytes('p'), mediaType: 'text/plain' });
    await service.save(owner, { name: 'b', content: bytes('1') });
    await service.save(owner, { name: 'b', content: bytes('22') });
    const other = { ...owner, session: 'two' };
    expect(text((await service.load(other, 'user:profile'))?.content)).toBe('p');
    expect((await service.list(owner)).map(({ name, version, bytes: size }) => [name, version, size])).toEqual([
      ['b', 1, 2],
      ['user:profile', 0, 1],
    ]);
    expect((await service.list(other)).map(({ name }) => name)).toEqual(['user:profile']);
    await service.delete(owner, 'b');
    expect(await service.versions(owner, 'b')).toEqual([]);
  });
  test('rejects names that would leave their folder', async () => {
    for (const name of ['..', '../x', 'a/b', '', '.', 'a\\b', 'a\0b', '%2e%2e', '．．', 'a\u2025b', '\uD800']) {
      await expect(service.save(OWNER, { name, content: bytes('x') }), name).rejects.toThrow(ArtifactError);
      await expect(service.save({ ...OWNER, user: name }, { name: 'x', content: bytes('x') }), name).rejects.toThrow(ArtifactError);
    }
  });
  test('sends large files by reference and restores them to bytes', async () => {
    const raw = bytesToBase64(new Uint8Array(INLINE_BYTES_MAX + 10).fill(7));
    const parts = [{ text: 'here' }, { raw: bytesToBase64(bytes('small')) }, { raw, filename: 'big.bin', mediaType: 'application/x-big' }];
    const sent = await toReferences(service, { owner: OWNER }, parts);
    expect(sent[1]).toEqual(parts[1]);
    expect(sent[2]).toEqual({
      url: 'artifact://shop/zo%C3%AB/s%201/big.bin?version=0',
      filename: 'big.bin',
      mediaType: 'application/x-big',
    });
    expect(await toBytes(service, OWNER, sent)).toEqual(parts);
    expect(await toBytes(service, { ...OWNER, user: 'mallory' }, sent)).toEqual(sent);
  });
}

describe('artifacts in memory', () => contract(async () => memoryObjects()));

describe('artifacts in a folder', () => {
  const folder = scratchFolder();
  contract(async () => fileObjects(join(folder, 'kept')));
  test('does not read links and folders', async () => {
    const root = mkdtempSync(join(folder, 'links-'));
    writeFileSync(join(folder, 'secret'), 'secret');
    mkdirSync(join(root, 'a'));
    symlinkSync(join(folder, 'secret'), join(root, 'a', 'link'));
    const objects = fileObjects(root);
    expect(await objects.get(keyOf('a', 'link'))).toBeUndefined();
    expect(await objects.get(keyOf('a'))).toBeUndefined();
    expect(await objects.get(keyOf('..', 'secret'))).toBeUndefined();
    expect(await objects.list(`${keyOf('a')}/` as ReturnType<typeof keyOf>)).toEqual([]);
  });
});

describe('artifacts in the folder of Solace Agent Mesh', () => {
  const folder = scratchFolder();
  const service = createArtifactService({ objects: fileObjects(folder), layout: 'sam', scope: { custom: 'lab' } });
  const owner = { app: 'any', user: 'zoë', session: 'web-session-1' };
  const place = join(folder, 'lab', 'zoë', 'web-session-1');

  test('are where SAM writes and looks for them', async () => {
    await service.save(owner, { name: 'a report.pdf', content: bytes('one'), mediaType: 'application/pdf' });
    expect(readFileSync(join(place, 'a report.pdf', '0'), 'utf8')).toBe('one');
    expect(JSON.parse(readFileSync(join(place, 'a report.pdf', '0.meta'), 'utf8'))).toEqual({ mime_type: 'application/pdf' });
    const described: unknown = JSON.parse(readFileSync(join(place, 'a report.pdf.metadata.json', '0'), 'utf8'));
    expect(described).toMatchObject({ filename: 'a report.pdf', mime_type: 'application/pdf', size_bytes: 3 });
  });
  test('of SAM are read', async () => {
    mkdirSync(join(place, 'b.json'), { recursive: true });
    writeFileSync(join(place, 'b.json', '4'), '{}');
    writeFileSync(join(place, 'b.json', '4.meta'), '{"mime_type": "application/json"}');
    expect(await service.load(owner, 'b.json')).toMatchObject({ version: 4, mediaType: 'application/json', bytes: 2 });
    await service.save(owner, { name: 'user:profile', content: bytes('p') });
    expect(readFileSync(join(folder, 'lab', 'zoë', 'user', 'profile', '0'), 'utf8')).toBe('p');
    expect((await service.list(owner)).map(({ name }) => name)).toEqual(['a report.pdf', 'b.json', 'user:profile']);
  });
  test('are deleted with their description', async () => {
    await service.delete(owner, 'a report.pdf');
    expect((await service.list(owner)).map(({ name }) => name)).toEqual(['b.json', 'user:profile']);
    expect(existsSync(join(place, 'a report.pdf.metadata.json', '0'))).toBe(false);
  });
  test('with the same content are kept once', async () => {
    const kept = [];
    for (const words of ['x', 'x', 'y', 'x']) kept.push((await service.keep(owner, { name: 'c', content: bytes(words) })).version);
    expect(kept).toEqual([0, 0, 1, 2]);
  });
});

describe('artifacts on S3', () => {
  const folder = scratchFolder();
  const server = { close: async (): Promise<void> => {}, port: 0 };
  beforeAll(async () => {
    const { default: S3rver } = await import('s3rver');
    const running = new S3rver({
      port: 0,
      address: '127.0.0.1',
      silent: true,
      directory: folder,
      configureBuckets: [{ name: 'artifacts' }],
    });
    server.port = (await running.run()).port;
    server.close = () => running.close();
  });
  afterAll(async () => await server.close());
  const options = (bucket = 'artifacts') => ({
    endpoint: `http://127.0.0.1:${server.port}`,
    bucket,
    accessKeyId: 'S3RVER',
    secretAccessKey: 'S3RVER',
    prefix: 'parley/',
  });
  contract(async () => await s3Objects(options()));
  test('reports a missing bucket', async () => {
    const objects = await s3Objects(options('nowhere'));
    await expect(objects.put(keyOf('a'), bytes('x'))).rejects.toThrow('there is no bucket nowhere');
  });
});

describe('artifact URIs', () => {
  test.each([
    [{ app: 'a', user: 'u', session: 's', file: 'f.txt', version: 3 }, 'artifact://a/u/s/f.txt?version=3'],
    [{ app: 'a', user: 'u@x.y', session: 's', file: 'ü ?#.txt' }, 'artifact://a/u%40x.y/s/%C3%BC%20%3F%23.txt'],
    [{ session: 'session_123', file: 'order.pdf' }, 'artifact://session_123/order.pdf'],
  ])('%j is %s', (uri, written) => {
    expect(writeArtifactUri(uri)).toBe(written);
    expect(readArtifactUri(written)).toEqual(uri);
  });
  const ways = [
    '..',
    '%2e%2e',
    '%2E%2e',
    '%252e%252e',
    '..%2f..',
    '%2fetc%2fpasswd',
    '..%5c',
    '%00',
    '%c0%ae',
    '．．',
    '%e2%80%a5',
    '%ef%bc%8f',
    'a%2fb',
    '',
    '.',
    '%u002e',
    'a%0d%0ab',
  ];
  const places = [
    'artifact://X/f',
    'artifact://s/X',
    'artifact://X/u/s/f',
    'artifact://a/X/s/f',
    'artifact://a/u/X/f',
    'artifact://a/u/s/X',
    'artifact://a/u/s/X/f',
    'artifact://X/X/X/X',
  ];
  const vectors = [
    ...places.flatMap((place) => ways.map((way) => place.replaceAll('X', way))),
    ...[
      'artifact:///etc/passwd',
      'artifact://s/f?version=-1',
      'artifact://s/f?version=1&x',
      'artifact://s/f?v=1',
      'artifact://s/f#x',
      'artifact://s',
      'artifact://a/u/s',
      'file:///etc/passwd',
      `artifact://s/${'x'.repeat(3000)}`,
    ],
  ];
  test(`${vectors.length} path traversal attempts are rejected`, () => {
    for (const vector of vectors) {
      const read = readArtifactUri(vector);
      // `%c0%ae` is not UTF-8 and `%u002e` not an escape. If one is accepted as a plain name, it must be a harmless one.
      if (read !== undefined)
        for (const name of [read.session, read.file, read.app ?? 'x', read.user ?? 'x']) expect(isArtifactName(name), vector).toBe(true);
      expect(read === undefined || vector.includes('%u'), vector).toBe(true);
    }
  });
});
