import type { ConsoleExchange } from './exchange.ts';

const PLACE = 'parley.wire';
const EXCHANGES_MAX = 60;
const FRAMES_MAX = 200;
const TEXT_MAX = 20_000;
/** Browsers give a tab about five million characters. */
const CHARS_MAX = 2_000_000;

/** Keeps the newest exchanges in the tab, for a page that is loaded again. Credentials are not in them. */
export function keepExchanges(all: readonly ConsoleExchange[]): void {
  const texts: string[] = [];
  let chars = 0;
  for (const exchange of all.slice(0, EXCHANGES_MAX)) {
    const text = JSON.stringify({
      ...exchange,
      body: exchange.body.slice(0, TEXT_MAX),
      answer: exchange.answer.slice(0, TEXT_MAX),
      frames: exchange.frames.slice(0, FRAMES_MAX),
      note: isCut(exchange) ? 'Shortened: the page was loaded again.' : exchange.note,
    });
    chars += text.length;
    if (chars > CHARS_MAX) break;
    texts.push(text);
  }
  try {
    sessionStorage.setItem(PLACE, `[${texts.join(',')}]`);
  } catch {
    sessionStorage.removeItem(PLACE); // the tab has no room for them
  }
}

function isCut({ body, answer, frames }: ConsoleExchange): boolean {
  return body.length > TEXT_MAX || answer.length > TEXT_MAX || frames.length > FRAMES_MAX;
}

/** The exchanges before the page was loaded again. */
export function keptExchanges(): readonly ConsoleExchange[] {
  try {
    return JSON.parse(sessionStorage.getItem(PLACE) ?? '[]') as readonly ConsoleExchange[];
  } catch {
    return [];
  }
}

/** Forgets what the tab has kept. */
export function forgetExchanges(): void {
  sessionStorage.removeItem(PLACE);
}
