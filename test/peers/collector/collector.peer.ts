import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { suiteNeeding } from '../../support/needs.ts';
import { nodeWithTelemetry, TRACE } from '../../support/telemetry.ts';
import { collectorOf } from '../install.ts';

const VERSION = '0.120.0';
const program = collectorOf(`otel-collector-${VERSION}`, {
  version: VERSION,
  parts: fileURLToPath(new URL('builder.yaml', import.meta.url)),
});
const SIGNALS = ['traces', 'metrics', 'logs'] as const;

suiteNeeding('Go', program !== undefined, `their collector: OpenTelemetry Collector ${VERSION}`, () => {
  let collector: Collector;
  beforeAll(async () => {
    collector = await startCollector(program ?? '');
  });
  afterAll(() => collector.stop());

  for (const protocol of ['http/json', 'http/protobuf', 'grpc'] as const) {
    it(`takes traces, metrics and logs of a node: ${protocol}`, async () => {
      const name = `node-${protocol.replace('/', '-')}`;
      const port = protocol === 'grpc' ? collector.grpc : collector.http;
      const node = await nodeWithTelemetry({ port, protocol, service: name });
      const linesOf = (signal: string): string => collector.lines(signal, name);
      await eventually(() => {
        assert.match(linesOf('traces'), new RegExp(`${TRACE}.*a2a run echo`, 's'));
        assert.match(linesOf('metrics'), /parley_run_seconds/);
      });
      assert.equal(await node.stop(), 0);
      await eventually(() => assert.match(linesOf('logs'), /the node is ready.*the node has stopped/s));
    });
  }
});

interface Collector {
  readonly http: number;
  readonly grpc: number;
  /** What it took of one service, as JSON. */
  lines(signal: string, service: string): string;
  stop(): Promise<void>;
}

/** Listens on two free ports, and writes what it gets into a file for each signal. */
async function startCollector(path: string): Promise<Collector> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-collector-'));
  const [http, grpc] = [await freePort(), await freePort()];
  const fileOf = (signal: string): string => join(folder, `${signal}.json`);
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${http}` }, grpc: { endpoint: `127.0.0.1:${grpc}` } } } },
    exporters: Object.fromEntries(SIGNALS.map((signal) => [`file/${signal}`, { path: fileOf(signal), flush_interval: '100ms' }])),
    service: {
      telemetry: { metrics: { level: 'none' } },
      pipelines: Object.fromEntries(SIGNALS.map((signal) => [signal, { receivers: ['otlp'], exporters: [`file/${signal}`] }])),
    },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const child = spawn(path, ['--config', `file:${join(folder, 'config.json')}`], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4000);
  });
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
  await eventually(async () => {
    assert.equal(child.exitCode, null, said);
    for (const port of [http, grpc]) await reached(port);
  });
  return {
    http,
    grpc,
    lines: (signal, service) =>
      existsSync(fileOf(signal))
        ? readFileSync(fileOf(signal), 'utf8')
            .split('\n')
            .filter((line) => line.includes(`"${service}"`))
            .join('\n')
        : '',
    stop: async () => {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function reached(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    });
    socket.on('error', reject);
  });
}
