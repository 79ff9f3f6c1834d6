export const nPackages = (count: number): string => (count === 1 ? '1 package' : `${count} packages`);
