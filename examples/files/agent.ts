import { createHash } from 'node:crypto';
import { type Agent, artifact, defineAgent } from 'parley-a2a/agents';

/** Receives files and returns a file with their checksums. */
const sums: Agent = defineAgent({
  name: 'sums',
  description: 'Makes a list of SHA-256 checksums of the files that it is sent.',
  inputModes: ['*/*'],
  run: (turn) => {
    const lines = turn.files.map((file) => {
      const bytes = Buffer.from(file.raw ?? '', 'base64');
      return `${createHash('sha256').update(bytes).digest('hex')}  ${file.filename ?? 'unnamed'}\n`;
    });
    const raw = Buffer.from(lines.join('')).toString('base64');
    return artifact({ name: 'checksums', parts: [{ raw, filename: 'SHA256SUMS', mediaType: 'text/plain' }] });
  },
});

export default sums;
