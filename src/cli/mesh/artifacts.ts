import { accessSync, constants } from 'node:fs';
import type { ArtifactService, Objects } from '#mesh';
import { createArtifactService, keyOf } from '#mesh';
import type { Settings } from '#server';
import { fileObjects } from '../../mesh/adapters/objects-files.ts';
import { memoryObjects } from '../../mesh/adapters/objects-memory.ts';
import { makeFolder } from '../../server/adapters/folders.ts';
import type { S3Options } from '../../server/adapters/s3.ts';
import { S3Error, s3OptionsIn } from '../../server/adapters/s3.ts';
import { CliError, usage } from '../command.ts';
import { asCliError } from './broker.ts';

/** One for the process, as for the broker `memory`. */
const inMemory = memoryObjects();

/** The store for large files. All members share one scope, so that they can read each other's files of the same user. */
export async function artifactsFor(address: string, settings: Settings): Promise<ArtifactService | undefined> {
  const { artifacts, artifactsLayout: layout, namespace } = settings;
  if (artifacts === undefined) return undefined;
  const objects = await objectsAt(artifacts, address);
  if (layout === 'parley') return createArtifactService({ objects, scope: 'namespace' });
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(artifacts))
    throw usage(`--artifacts-layout ${layout} needs a folder, not ${artifacts.split('?')[0]}`);
  // SAM names the scope by the last level of its namespace.
  return createArtifactService({ objects, layout, scope: { custom: namespace.split('/').findLast((level) => level !== '') ?? namespace } });
}

/** Opens the place of `--artifacts`: memory, a folder or a bucket. */
async function objectsAt(place: string, broker: string): Promise<Objects> {
  if (place === 'memory') {
    if (broker === 'memory') return inMemory;
    throw usage(
      '--artifacts memory: other processes on the broker cannot read files in the memory of this one',
      'name a folder that they share, or s3://BUCKET',
    );
  }
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(place)?.[1];
  if (scheme === undefined) return fileObjects(writable(place));
  if (scheme !== 's3') throw usage(`--artifacts ${scheme}://…: name a folder or s3://BUCKET`);
  return await bucketAt(place);
}

/** Creates the folder. Throws if this user can't read and write it. */
function writable(folder: string): string {
  try {
    makeFolder(folder);
    accessSync(folder, constants.R_OK | constants.W_OK);
    return folder;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CliError(`files can't be stored in ${folder}: ${reason}`, { hint: 'name another folder with --artifacts', cause });
  }
}

/** Lists the bucket once, so that a wrong key or bucket is reported at the start and not with the first large file. */
async function bucketAt(place: string): Promise<Objects> {
  const options = optionsIn(place);
  try {
    const { s3Objects } = await import('../../mesh/adapters/objects-s3.ts');
    const objects = await s3Objects(options);
    await objects.list(keyOf('namespace', '.at-start'));
    return objects;
  } catch (thrown) {
    throw asCliError(thrown);
  }
}

function optionsIn(place: string): S3Options {
  try {
    return s3OptionsIn(place, process.env);
  } catch (thrown) {
    throw thrown instanceof S3Error ? usage(`--artifacts: ${thrown.message}`, thrown.hint) : thrown;
  }
}
