import type { LimitDeclaration } from '#engine';
import { ENGINE_LIMITS } from '#engine';
import { SERVER_LIMITS } from '../../limits.ts';
import type { SettingTable } from '../setting.ts';

/**
 * A setting for every limit of the server and the engine. `parley serve --limit NAME=VALUE` sets them.
 */
export const LIMIT_SETTINGS: SettingTable = Object.fromEntries(
  Object.entries<LimitDeclaration>({ ...SERVER_LIMITS, ...ENGINE_LIMITS }).map(([name, limit]) => [
    `limits.${name}`,
    { type: 'number', ...limit },
  ]),
);
