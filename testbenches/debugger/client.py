"""A client of the GDB remote protocol that says what a test wants it to say, and can leave without a word."""

import socket


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.heard = b""

    def send(self, data):
        self.socket.sendall(data)

    def ask(self, content):
        """Sends a packet and returns what is answered."""
        self.go(content)
        return self.answer()

    def go(self, content):
        """Sends a packet that is only answered when the program stops or ends."""
        self.send(f"${content}#{sum(content.encode()) % 256:02x}".encode())

    def answer(self):
        while self.heard.count(b"#") == 0 or len(self.heard) < self.heard.index(b"#") + 3:
            more = self.socket.recv(4096)
            if not more:
                raise EOFError
            self.heard += more
        begin, end = self.heard.index(b"$"), self.heard.index(b"#")
        content, self.heard = self.heard[begin + 1:end], self.heard[end + 3:]
        return content.decode()

    def is_told_off(self):
        """Waits until nothing more can come: socket.timeout when the other side keeps the connection."""
        try:
            while self.socket.recv(4096):
                pass
        except ConnectionResetError:
            pass
        return True

    def leave(self):
        self.socket.close()
