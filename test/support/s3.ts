import { afterAll, beforeAll } from 'vitest';

/** The keys that s3rver accepts. */
export const S3_KEYS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' } as const;

/** A server of the S3 protocol for the tests of a file, which stores objects in a folder. Its address is known when the tests begin. */
export function s3Server(folder: string, buckets: readonly string[]): { readonly endpoint: string } {
  const server = { endpoint: '', close: async (): Promise<void> => {} };
  beforeAll(async () => {
    const { default: S3rver } = await import('s3rver');
    const configureBuckets = buckets.map((name) => ({ name }));
    const running = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory: folder, configureBuckets });
    server.endpoint = `http://127.0.0.1:${(await running.run()).port}`;
    server.close = () => running.close();
  });
  afterAll(async () => await server.close());
  return server;
}
