import { evaluateMath } from './math.ts';

/** `«type:expression | format»` (docs/dialects/sam.md, "Embeds"). */
export const EMBED: RegExp = /«(\w+):([^«»|]*)(?:\|([^«»]*))?»/g;

/**
 * Resolves the embeds of SAM in a text, as SAM's agents do: `math`, `datetime` and `uuid` become values,
 * signals to a gateway (`status_update`, `artifact_return`) disappear. SAM's agents do so in the text
 * that they stream, and leave the embeds in their final text. A gateway resolves embeds that quote a
 * file (`resolveContent`).
 */
export function resolveEmbeds(text: string, now: Date = new Date()): string {
  if (!text.includes('«')) return text;
  return text.replaceAll(EMBED, (embed: string, type: string, expression: string, format: string | undefined) => {
    switch (type) {
      case 'math':
        return mathText(expression.trim(), format?.trim());
      case 'datetime':
        return dateText(expression.trim(), now);
      case 'uuid':
        return crypto.randomUUID();
      case 'status_update':
      case 'artifact_return':
      case 'result':
        return '';
      default:
        return embed;
    }
  });
}

function mathText(expression: string, format: string | undefined): string {
  try {
    return evaluateMath(expression, format);
  } catch (thrown) {
    return `[Error: Math evaluation error: ${thrown instanceof Error ? thrown.message : 'unknown'}]`;
  }
}

/** Python's `strftime` with its common letters. SAM uses the local time. */
function dateText(format: string, now: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const letters: Readonly<Record<string, string>> = {
    Y: String(now.getFullYear()),
    m: two(now.getMonth() + 1),
    d: two(now.getDate()),
    H: two(now.getHours()),
    M: two(now.getMinutes()),
    S: two(now.getSeconds()),
    '%': '%',
  };
  const written = (pattern: string): string => pattern.replaceAll(/%(.)/g, (all, letter: string) => letters[letter] ?? all);
  switch (format.toLowerCase()) {
    case '':
    case 'now':
    case 'iso':
      return written('%Y-%m-%dT%H:%M:%S');
    case 'timestamp':
      return String(now.getTime() / 1000);
    case 'date':
      return written('%Y-%m-%d');
    case 'time':
      return written('%H:%M:%S');
    default:
      return written(format);
  }
}
