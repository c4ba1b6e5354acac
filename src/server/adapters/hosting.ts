import type { Settings } from '../config/settings.ts';
import type { ServeOptions } from './node.ts';

/** What the public listener needs: where it listens, and whom it lets in. */
export function hostingOf(settings: Settings, more: ServeOptions): ServeOptions {
  const { port, host, allowedHosts, allowedOrigins, limits, insecureBehindProxy, trustedProxies, grpc, socket, url } = settings;
  return {
    ...{ port, host, allowedHosts, allowedOrigins, limits, insecureBehindProxy, trustedProxies, grpc },
    ...(socket === undefined ? {} : { socket }),
    ...(url === undefined ? {} : { url }),
    ...more,
  };
}
