/** The couriers whose set-up steps somebody has hidden on this device. */
const NAME = 'crossdock-set-up-hidden';

export const isHidden = (courierId: string): boolean => read().includes(courierId);

export const hideSteps = (courierId: string): void => store([...read(), courierId]);

export const showSteps = (courierId: string): void => store(read().filter((each) => each !== courierId));

const store = (hidden: string[]): void => localStorage.setItem(NAME, JSON.stringify(hidden));

function read(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(NAME) ?? '[]');
    return Array.isArray(stored) ? stored.map(String) : [];
  } catch {
    return [];
  }
}
