"""A mail server of one session at a time, with the answers that a test chooses."""

import socket
import threading

GREETING = b"220 mail.example.org\r\n"


class MailServer:
    """`answers`: by the first word of a command, instead of `250 ok`. `mails`: what was received."""

    def __init__(self, **answers: str) -> None:
        self.answers = {"DATA": "354 go on", "QUIT": "221 bye"} | answers
        self.mails: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        if self._thread.is_alive():
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
        self._thread.join(60)

    def _serve(self) -> None:
        while True:
            try:
                link, _peer = self._listener.accept()
            except OSError:
                return
            with link, link.makefile("rb") as lines:
                link.sendall(GREETING)
                for line in lines:
                    command = line.split()[0].decode().upper()
                    link.sendall(f"{self.answers.get(command, '250 ok')}\r\n".encode())
                    if command == "DATA" and self.answers["DATA"].startswith("354"):
                        self.mails.append(b"".join(iter(lines.readline, b".\r\n")).decode())
                        link.sendall(f"{self.answers.get('END', '250 queued as 7')}\r\n".encode())
