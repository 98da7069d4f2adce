"""The API types of each release as data, and how the server prints them. Tables only: nothing in here decides anything."""
