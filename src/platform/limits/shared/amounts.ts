/** Who has a part of an amount. The holders of a tenant have a limit together. */
export type Holder = { name: string; tenant: string };

/** The most that one holder, the holders of one tenant, and all holders together may have at the same time. */
export type AmountLimits = { perHolder: number; perTenant?: number; total?: number };

/** Counts what holders have at the same time, for example connections or bytes. */
export type Amounts = {
  /** Takes an amount. Returns false, and takes nothing, if it would exceed a limit. */
  take(holder: Holder, amount: number): boolean;
  /** Gives back an amount that was taken. */
  give(holder: Holder, amount: number): void;
  /** Returns what a holder has. */
  heldBy(holder: Holder): number;
};

/** The share of an amount that leaves enough for other tenants, however many users and keys one tenant has. */
export const TENANT_SHARE = 0.8;

export function makeAmounts({ perHolder, perTenant = Infinity, total = Infinity }: AmountLimits): Amounts {
  const ofHolders = makeSums();
  const ofTenants = makeSums();
  let taken = 0;

  function add({ name, tenant }: Holder, amount: number): void {
    ofHolders.add(name, amount);
    ofTenants.add(tenant, amount);
    taken += amount;
  }

  return {
    take(holder, amount) {
      const isFree =
        taken + amount <= total &&
        ofTenants.of(holder.tenant) + amount <= perTenant &&
        ofHolders.of(holder.name) + amount <= perHolder;
      if (isFree) add(holder, amount);
      return isFree;
    },
    give: (holder, amount) => add(holder, -amount),
    heldBy: ({ name }) => ofHolders.of(name),
  };
}

/** Sums by name. What is not positive is forgotten. */
export function makeSums() {
  const sums = new Map<string, number>();
  const of = (name: string) => sums.get(name) ?? 0;
  return {
    of,
    add(name: string, amount: number): void {
      const sum = of(name) + amount;
      if (sum > 0) sums.set(name, sum);
      else sums.delete(name);
    },
  };
}
