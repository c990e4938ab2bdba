"""What moderators see and do, on the pages and in the API: about members, their votes, hosts and voting rings."""
