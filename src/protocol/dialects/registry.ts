import { cortex } from './cortex/dialect.ts';
import type { Dialect } from './dialect.ts';
import { promptkit } from './promptkit/dialect.ts';
import { sam, samDocumented } from './sam/dialect.ts';
import { society } from './society/dialect.ts';
import { v01 } from './v01/dialect.ts';
import { v02, v02Releases } from './v02/dialect.ts';
import { v03, v03Rest, v03TaskId } from './v03/dialect.ts';
import { v10, v10Generation } from './v10/dialect.ts';
import { mqtt01 } from './v10/mqtt.ts';

/**
 * Every dialect. The order decides between dialects that are equally sure of a request. To add a
 * dialect, add a folder and a line here.
 */
export const DIALECTS: readonly Dialect[] = [
  ...[v10, v10Generation, mqtt01],
  ...[v03, v03TaskId, v03Rest],
  ...[v02, ...v02Releases],
  ...[v01, society],
  promptkit,
  ...[sam, samDocumented],
  cortex,
];
