/** Files of the server that the user keeps: they are fetched, as their addresses carry no key, and saved by the browser. */
import { ApiError, type Client } from '../api/client.js';

/** Has the browser save what a path of the API gives. @throws ApiError. */
export async function saveFile(client: Client, path: string, name: string): Promise<void> {
  const response = await client.answer(path);
  const { status } = response;
  // Refusals are JSON that is not sent as a file.
  if (!response.ok || response.headers.get('content-disposition') === null) {
    const { code = 0, message = `The server answered ${status}.` } = (await response.json()) as Partial<ApiError>;
    throw new ApiError(message, { code, status });
  }
  // Nothing of it is opened in this page: it is saved, whatever its type.
  const bytes = new Blob([await response.arrayBuffer()], { type: 'application/octet-stream' });
  const url = URL.createObjectURL(bytes);
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
