"""rendered"""
