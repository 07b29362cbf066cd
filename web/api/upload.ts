/** Uploads with their progress, which fetch does not tell. */
import { Observable, type Subscriber } from 'rxjs';
import { ApiError, type Client } from './client.js';

/** How far an upload is; with `data` once the server has answered. */
export interface UploadProgress {
  /** 0 to 1. */
  readonly share: number;
  readonly data?: unknown;
}

/** Sends a file to a path of the API; unsubscribing stops it. A refused key is asked for, and the upload begins again. Fails with ApiError. */
export function upload(client: Client, path: string, file: File): Observable<UploadProgress> {
  return new Observable((subscriber) => {
    const begin = (): void => {
      const key = client.keys.current;
      const request = new XMLHttpRequest();
      request.open('POST', client.address(path));
      if (key !== undefined) request.setRequestHeader('authorization', `Bearer ${key}`);
      request.responseType = 'json';
      request.upload.onprogress = ({ loaded, total }) => subscriber.next({ share: total === 0 ? 0 : loaded / total });
      request.onerror = () => subscriber.error(new ApiError('The server cannot be reached.', { code: 0, status: 0 }));
      request.onload = () => {
        if (request.status === 401) void client.keys.another(key).then(begin);
        else readAnswer(request, subscriber);
      };
      subscriber.add(() => request.abort());
      const form = new FormData();
      form.append('file', file);
      request.send(form);
    };
    begin();
  });
}

function readAnswer({ response, status }: XMLHttpRequest, subscriber: Subscriber<UploadProgress>): void {
  const {
    code = 0,
    message = `The server answered ${status}.`,
    data,
  } = (response ?? { code: -1 }) as {
    readonly code?: number;
    readonly message?: string;
    readonly data?: unknown;
  };
  if (code !== 0) {
    subscriber.error(new ApiError(message, { code, status, data }));
    return;
  }
  subscriber.next({ share: 1, data });
  subscriber.complete();
}
