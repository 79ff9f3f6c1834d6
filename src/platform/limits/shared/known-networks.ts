/** The networks from which users have logged in lately, of each tenant. */
export type KnownNetworks = {
  has(network: TenantNetwork): boolean;
  note(login: NotedLogin): void;
};

export type TenantNetwork = { tenant: string; network: string };
export type NotedLogin = TenantNetwork & { user: string };

const MAX_LOGINS = 10_000;
/** One user with many networks does not displace those of others. */
const MAX_OF_USER = 8;
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Keeps them in memory: after a start, no network is known. */
export function makeKnownNetworks(): KnownNetworks {
  // The oldest first. It changes with successful logins only, which are slow: few enough to look at all.
  const logins: (NotedLogin & { atMs: number })[] = [];
  const counts = new Map<string, number>();

  function count({ tenant, network }: TenantNetwork, step: 1 | -1): void {
    const key = `${tenant} ${network}`;
    const sum = (counts.get(key) ?? 0) + step;
    if (sum === 0) counts.delete(key);
    else counts.set(key, sum);
  }

  function forget(at: number): void {
    const [login] = at < 0 ? [] : logins.splice(at, 1);
    if (login) count(login, -1);
  }

  function forgetOld(): void {
    while (logins[0] && performance.now() - logins[0].atMs > KEPT_MS) forget(0);
  }

  return {
    has({ tenant, network }) {
      forgetOld();
      return counts.has(`${tenant} ${network}`);
    },
    note(login) {
      const { tenant, user, network } = login;
      const isOfUser = (other: NotedLogin) => other.tenant === tenant && other.user === user;
      forgetOld();
      forget(logins.findIndex((other) => isOfUser(other) && other.network === network));
      logins.push({ tenant, user, network, atMs: performance.now() });
      count(login, 1);
      if (logins.filter(isOfUser).length > MAX_OF_USER) forget(logins.findIndex(isOfUser));
      if (logins.length > MAX_LOGINS) forget(oldestOfLargest(logins));
    },
  };
}

/** Returns the place of the oldest login of the tenant with the most, so that a tenant does not displace the networks of others. */
function oldestOfLargest(logins: NotedLogin[]): number {
  const counts = new Map<string, number>();
  for (const { tenant } of logins) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return logins.findIndex(({ tenant }) => counts.get(tenant) === most);
}
