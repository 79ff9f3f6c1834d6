export type LanguageId = 'curl' | 'php' | 'python' | 'javascript' | 'go';

export const LANGUAGES: { id: LanguageId; lang: string; label: string }[];
export const PLACEHOLDERS: { token: string; key: string; idempotencyKey: string };

export type RequestSamples = { title: string; example: string; samples: Record<LanguageId, string> };

export function codeSamples(bundle: object): Record<string, RequestSamples[]>;
export function courierSamples(bundle: object): Record<string, RequestSamples[]>;
export function toCodeSamples(requests: RequestSamples[]): { lang: string; label: string; source: string }[];
