const WORKER = '/console/worker.js';

type Policies = {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string };
};

/** Keeps the page for times without a connection. Only pages with HTTPS can; all others need the service for a reload. */
export async function keepPageOffline(): Promise<void> {
  const { serviceWorker } = navigator as { serviceWorker?: ServiceWorkerContainer };
  if (!serviceWorker || !isSecureContext) return;
  const { trustedTypes } = globalThis as { trustedTypes?: Policies };
  const policy = trustedTypes?.createPolicy('crossdock-worker', { createScriptURL: () => WORKER });
  const url = policy?.createScriptURL(WORKER) ?? WORKER;
  await serviceWorker.register(url, { scope: '/console', updateViaCache: 'none' });
}
