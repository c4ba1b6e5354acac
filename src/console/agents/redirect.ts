import { NODE } from '../prefix.ts';

/** The page of the console that an OAuth server redirects to. It must be registered there. */
export const REDIRECT_URI: string = `${NODE}/console/signed-in`;
/** Only pages of this origin hear it. A window that was opened for another origin has no other way back. */
const CHANNEL = 'parley.signed-in';

/** Opens the page of an OAuth server in another window, and waits until the server has redirected it to `REDIRECT_URI`. */
export function redirected(url: URL, signal: AbortSignal): Promise<URL> {
  // The card's author chose the address.
  if (!/^https?:$/.test(url.protocol)) throw new Error(`${url.protocol} is no address of the web, so it can’t be opened`);
  const state = url.searchParams.get('state');
  const channel = new BroadcastChannel(CHANNEL);
  const found = new Promise<URL>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('You have ended the sign-in.')), { once: true });
    channel.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (typeof data !== 'string' || !URL.canParse(data)) return;
      const back = new URL(data);
      if (back.searchParams.get('state') !== state) return;
      channel.postMessage({ heard: state });
      resolve(back);
    };
  });
  window.open(url, '_blank', 'noopener');
  return found.finally(() => channel.close());
}

/** Gives the address of this page to the one that waits for it. `onHeard` is called when that one has it. */
export function reportRedirect(onHeard: () => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  const state = new URL(location.href).searchParams.get('state');
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (typeof data === 'object' && data !== null && 'heard' in data && data.heard === state) onHeard();
  };
  channel.postMessage(location.href);
  // The code works once, for the page that asked for it, and has no business in the history of the browser.
  history.replaceState(null, '', location.pathname);
  return () => channel.close();
}
