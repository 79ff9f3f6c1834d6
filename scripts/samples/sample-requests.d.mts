export type SampleRequest = { operationId: string; example: string; method: string; title: string };

export function sampleRequests(bundle: object): SampleRequest[];
export function serverUrl(bundle: object): string;
