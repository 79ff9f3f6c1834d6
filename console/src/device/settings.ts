import { computed, effect, signal } from '@preact/signals';

export const LANGUAGES = ['en', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];
/** `system`: as the device is set. */
export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];
/** `auto`: at the printer of the station if a print bridge serves it, otherwise here. */
export type LabelMode = 'auto' | 'queue' | 'pdf' | 'zpl' | 'off';

/** What this device remembers. Nothing in it is secret. */
export type DeviceSettings = {
  language: Language;
  theme: Theme;
  station: string;
  hasSound: boolean;
  labels: LabelMode;
  prefix: string;
  suffix: string;
  /** The largest weight that nobody is asked about, as the service said last. */
  weightQuestionLb: number;
  /** The time zone of all times, a name of the IANA database, as the service said last. */
  timeZone: string;
  /** The currency of all amounts, a code of ISO 4217, as the service said last. */
  currency: string;
  /** The station is locked when nobody has used the device for so long. 0: never. */
  lockMinutes: number;
  /** Whether a person has named the station. */
  isNamed: boolean;
  /** Versions before 2 stored `pdf` for everybody who had chosen nothing. */
  version: number;
};

const NAME = 'crossdock-device';

const DEFAULTS: DeviceSettings = {
  language: navigator.language.startsWith('es') ? 'es' : 'en',
  theme: 'system',
  station: navigator.language.startsWith('es') ? 'Estación 1' : 'Station 1',
  hasSound: true,
  labels: 'auto',
  prefix: '',
  suffix: '',
  weightQuestionLb: 150,
  timeZone: 'UTC',
  currency: 'USD',
  lockMinutes: 15,
  isNamed: false,
  version: 2,
};

const device = signal<DeviceSettings>(read());

/** What the person who is logged in has chosen, in place of the device's own. It is not stored here. */
export const personal = signal<{ language?: Language | undefined; theme?: Theme | undefined }>({});

export const settings = computed<DeviceSettings>(() => ({
  ...device.value,
  language: personal.value.language ?? device.value.language,
  theme: personal.value.theme ?? device.value.theme,
}));

effect(() => {
  localStorage.setItem(NAME, JSON.stringify(device.value));
});

// Another tab has changed them.
addEventListener('storage', ({ key }) => {
  if (key === NAME) device.value = read();
});

/** Changes the settings of the device. */
export function change(changes: Partial<DeviceSettings>): void {
  device.value = { ...device.value, ...changes };
}

function read(): DeviceSettings {
  try {
    // This page wrote it. Missing fields have their defaults.
    const stored = JSON.parse(localStorage.getItem(NAME) ?? '{}') as Partial<DeviceSettings>;
    const isOld = stored.version === undefined;
    const labels = isOld && stored.labels === 'pdf' ? 'auto' : (stored.labels ?? DEFAULTS.labels);
    const isNamed = stored.isNamed ?? (stored.station !== undefined && stored.station !== DEFAULTS.station);
    return { ...DEFAULTS, ...stored, labels, isNamed, version: DEFAULTS.version };
  } catch {
    return DEFAULTS;
  }
}
